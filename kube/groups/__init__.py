"""Which of the two group APIs is in force, and what follows from it."""
