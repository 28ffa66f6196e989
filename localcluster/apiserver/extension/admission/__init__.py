"""Admission: what may change or refuse a write on its way into the store."""
