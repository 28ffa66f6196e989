"""Devices and the claims that ask for them."""
