"""CronJobs: when the next Job is due, and what to do about the earlier ones."""
