package console

// What the API answers, for clients in Go.
type (
	// RunAnswer is everything about one run: GET /api/runs/{id}.
	RunAnswer = runAnswer
	// FrameAnswer is what the model was shown in one step: GET /api/runs/{id}/steps/{n}.
	FrameAnswer = frameAnswer
	// SpaceRow is one space in a list: GET /api/spaces.
	SpaceRow = spaceRow
	// MemoryAnswer is what a mind has of its own: GET /api/memory/{agent}/{circle}.
	MemoryAnswer = memoryAnswer
	// FoundRow is one message that was looked for: GET /api/search.
	FoundRow = foundRow
	// CauseRow is one link of the chain that led to a denial.
	CauseRow = causeRow
	// Grant is what in the configuration decides about a denial.
	Grant = grant
	// DenialRow is one refusal with its number: GET /api/denials.
	DenialRow = denialRow
)
