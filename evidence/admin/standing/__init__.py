"""Who earns a seat: the leaderboard, trends, what stands out, and the verdicts that would say more."""
