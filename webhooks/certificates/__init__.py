"""The serving certificate: made and rotated here, or watched where somebody else makes it; and who is told to trust it."""
