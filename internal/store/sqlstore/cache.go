package sqlstore

import "github.com/trestle-bridge/trestle/spaces"

// maxCached bounds each part of the cache: as many as there are minds in memory.
const maxCached = 1024

// A tableCache is what the writer knows of the tables without asking. It stays true as long
// as nobody else writes them: news of others clears it, as does a write that is taken
// back.
type tableCache struct {
	branches      map[branchKey]*branchState
	spaces        map[spaces.SpaceID]*spaceState
	identities    map[identityKey]spaces.Entity
	systems       map[string]string // system texts with the names they are kept under
	kinds         map[spaces.EntityID]spaces.EntityKind
	roles         map[spaces.EntityID]spaces.Authority // what somebody's words may ask for
	members       map[spaces.SpaceID][]spaces.Member   // of small rooms
	closedCycles  map[spaces.Mind]int64                // how many closed cycles a mind has
	accounts      map[spaces.CycleID]usageAccounts     // of open cycles
	handled       map[inboxKey]bool                    // where no row is ready, neither now nor later
	manifests     map[string]int64                     // when the use of a version of the acts was last noted
	shownHorizon  *int64                               // of the table seen; nil while it is not known
	movedBranches []*branchState                       // lines whose head has moved in the running job
	changedSpaces []*spaceState                        // rooms that changed in the running job
}

func newCache() *tableCache {
	c := &tableCache{}
	c.forgetAll()
	return c
}

func (c *tableCache) forgetAll() {
	*c = tableCache{
		branches: map[branchKey]*branchState{}, spaces: map[spaces.SpaceID]*spaceState{}, identities: map[identityKey]spaces.Entity{},
		kinds: map[spaces.EntityID]spaces.EntityKind{}, systems: map[string]string{},
		roles: map[spaces.EntityID]spaces.Authority{}, members: map[spaces.SpaceID][]spaces.Member{},
		closedCycles: map[spaces.Mind]int64{}, handled: map[inboxKey]bool{}, accounts: map[spaces.CycleID]usageAccounts{}, manifests: map[string]int64{},
	}
}

// forgetShared forgets what others may have changed: nobody takes a version of the acts away.
func (c *tableCache) forgetShared() {
	offered := c.manifests
	c.forgetAll()
	c.manifests = offered
}

// forgetMembers forgets what follows from who somebody is, and from who is where.
func (c *tableCache) forgetMembers() {
	clear(c.roles)
	clear(c.members)
}

// addIdentity remembers who is behind an identity.
func (c *tableCache) addIdentity(k identityKey, e spaces.Entity) {
	c.identities[k] = e
	c.kinds[e.ID] = e.Kind
}

// trimToBounds keeps the cache within its bounds; it is called between jobs.
func (c *tableCache) trimToBounds() {
	if len(c.branches) > maxCached {
		clear(c.branches)
	}
	if len(c.spaces) > maxCached {
		clear(c.spaces)
	}
	if len(c.systems) > 64 { // long texts, one for each agent
		clear(c.systems)
	}
	if len(c.identities) > maxCached || len(c.kinds) > maxCached {
		clear(c.identities)
		clear(c.kinds)
	}
	if len(c.roles) > maxCached || len(c.members) > maxCached {
		c.forgetMembers()
	}
	if len(c.accounts) > maxCached {
		clear(c.accounts)
	}
	if len(c.manifests) > 64 {
		clear(c.manifests)
	}
	if len(c.closedCycles) > maxCached || len(c.handled) > maxCached {
		clear(c.closedCycles)
		clear(c.handled)
	}
}
