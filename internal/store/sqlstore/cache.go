package sqlstore

import "github.com/trestle-bridge/trestle/spaces"

// maxCached bounds each part of the cache: as many as there are minds in memory.
const maxCached = 1024

// A cache is what the writer knows of the tables without asking. It stays true as long
// as nobody else writes them: news of others clears it, as does a write that is taken
// back.
type cache struct {
	lines    map[lineKey]*branchState
	rooms    map[spaces.SpaceID]*spaceState
	people   map[identityKey]spaces.Entity
	systems  map[string]string // system texts with the names they are kept under
	kinds    map[spaces.EntityID]spaces.EntityKind
	powers   map[spaces.EntityID]spaces.Authority // what somebody's words may ask for
	rosters  map[spaces.SpaceID][]spaces.Member   // of small rooms
	numbers  map[spaces.Mind]int64                // how many closed cycles a mind has
	payers   map[spaces.CycleID]usageAccounts     // of open cycles
	handled  map[inboxKey]bool                    // where no row is ready, neither now nor later
	offered  map[string]int64                     // when the use of a version of the acts was last noted
	horizon  *int64                               // of the table seen; nil while it is not known
	unsaved  []*branchState                       // lines whose head has moved in the running job
	unstored []*spaceState                        // rooms that changed in the running job
}

func newCache() *cache {
	c := &cache{}
	c.clear()
	return c
}

func (c *cache) clear() {
	*c = cache{
		lines: map[lineKey]*branchState{}, rooms: map[spaces.SpaceID]*spaceState{}, people: map[identityKey]spaces.Entity{},
		kinds: map[spaces.EntityID]spaces.EntityKind{}, systems: map[string]string{},
		powers: map[spaces.EntityID]spaces.Authority{}, rosters: map[spaces.SpaceID][]spaces.Member{},
		numbers: map[spaces.Mind]int64{}, handled: map[inboxKey]bool{}, payers: map[spaces.CycleID]usageAccounts{}, offered: map[string]int64{},
	}
}

// news forgets what others may have changed: nobody takes a version of the acts away.
func (c *cache) news() {
	offered := c.offered
	c.clear()
	c.offered = offered
}

// regroup forgets what follows from who somebody is, and from who is where.
func (c *cache) regroup() {
	clear(c.powers)
	clear(c.rosters)
}

// meet remembers who is behind an identity.
func (c *cache) meet(k identityKey, e spaces.Entity) {
	c.people[k] = e
	c.kinds[e.ID] = e.Kind
}

// trim keeps the cache within its bounds; it is called between jobs.
func (c *cache) trim() {
	if len(c.lines) > maxCached {
		clear(c.lines)
	}
	if len(c.rooms) > maxCached {
		clear(c.rooms)
	}
	if len(c.systems) > 64 { // long texts, one for each agent
		clear(c.systems)
	}
	if len(c.people) > maxCached || len(c.kinds) > maxCached {
		clear(c.people)
		clear(c.kinds)
	}
	if len(c.powers) > maxCached || len(c.rosters) > maxCached {
		c.regroup()
	}
	if len(c.payers) > maxCached {
		clear(c.payers)
	}
	if len(c.offered) > 64 {
		clear(c.offered)
	}
	if len(c.numbers) > maxCached || len(c.handled) > maxCached {
		clear(c.numbers)
		clear(c.handled)
	}
}
