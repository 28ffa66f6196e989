"""The stand-in for the JobSet controller."""
