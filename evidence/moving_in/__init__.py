"""Moving in from Benchwarmers, the file-based predecessor: its folder read, and what is not here yet written down.

`reading` makes values of its files and knows no row; `writing` makes rows of those values and knows no file.
"""
