"""What lies between a process and the API server, and what it does to requests, so that promises are checked under it.

`tcp_proxy` loses and delays bytes of any protocol; `proxy` knows requests and watches, and carries out a script: a value, one line
of text, with which a run that failed is repeated.
"""
