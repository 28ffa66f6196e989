"""Jobs (batch/v1): what a new or changed one is defaulted to, and which changes are refused."""
