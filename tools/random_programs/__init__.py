"""Random programs, hybridized and compared with their imperative selves."""
