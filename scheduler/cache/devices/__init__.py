"""What is known of devices (`resource.k8s.io`): slices, classes, claims, taint rules, and what selectors say of them."""
