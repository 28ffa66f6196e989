"""What is done to a process of ours, or lies between it and the API server, so that promises are checked under it."""
