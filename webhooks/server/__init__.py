"""The HTTPS end of admission: connections, requests, routes, metrics."""
