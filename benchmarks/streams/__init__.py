"""Thousands of streams that wait for their seats, on one process: are they all kept alive in time, and what does it cost?"""
