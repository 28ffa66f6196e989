"""Parity: the embedded API server and a real one answer the same requests alike."""
