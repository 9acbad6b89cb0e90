"""How a dialect is learned from a model's own templates; `dialects/learn.py` is the way in."""
