"""Brings claims and volumes together: a stand-in for the stock volume binder and for whoever makes volumes and their claims."""
