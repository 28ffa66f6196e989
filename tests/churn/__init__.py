"""What users create and delete leaves nothing behind in our processes."""
