"""Scripts for those who work on autohybrid; not part of the package."""
