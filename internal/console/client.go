package console

// What the API answers, for clients in Go.
type (
	// RunAnswer is everything about one run: GET /api/runs/{id}.
	RunAnswer = runAnswer
	// SpaceRow is one space in a list: GET /api/spaces.
	SpaceRow = spaceRow
	// DenialRow is one refusal with its number: GET /api/denials.
	DenialRow = denialRow
)
