"""What the documentation site is made with: reference pages from the code, and the judge's examples in colours."""
