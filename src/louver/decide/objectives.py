"""What a choice between strategies aims at: the least price reserved, the least mean price, the most min-entropy."""

WORST, MEAN, ENTROPY = "worst", "mean", "entropy"
OBJECTIVES = (WORST, MEAN, ENTROPY)
