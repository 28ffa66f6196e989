"""CustomResourceDefinitions: their own rules, the kinds they make, and their life from acceptance to removal."""
