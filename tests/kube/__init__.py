"""Tests of kube/: real sockets on loopback, scripted answers, no cluster."""
