"""A stand-in for the JobSet controller (github.com/kubernetes-sigs/jobset): what the real one was seen to do, less its webhooks."""
