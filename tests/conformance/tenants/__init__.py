"""Hostile tenants: what somebody with the role `admin` in a namespace of his own can do to the gangs of another one."""
