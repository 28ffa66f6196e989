"""`make demo`: gangs seen to wait, to say why, and to start together, on a cluster of this machine."""
