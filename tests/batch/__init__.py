"""Corpora: read, judged, cleaned, converted and scored."""
