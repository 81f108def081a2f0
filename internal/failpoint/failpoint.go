// Package failpoint has the named points at which the fault tests hurt clusterd: they kill it, hold
// it up, make it fail, or seed a bug in it. In a normal build every function here is empty and is
// inlined away. Built with the tag failpoints, the program does what the environment variable
// CLUSTERD_FAILPOINT says, a list with commas of
//
//	NAME=37:ACTION     at the 37th time that the point is hit
//	NAME=0.01@7:ACTION each time with probability 0.01, drawn with the seed 7
//	seeded=BUG         the bug is there all the time
//
// where ACTION is kill (SIGKILL to itself), pause (SIGSTOP to itself; going on is the tester's to
// say) or error (the point answers with an error).
package failpoint

// The points, in the order in which a batch passes them.
const (
	Assigned      = "assigned"       // a batch is assigned, and the one before may be on its way
	Prepared      = "prepared"       // it is encoded too, and numbered later
	BeforeProduce = "before-produce" // nothing of the transaction is written
	AfterProduce  = "after-produce"  // its records are written, its offsets are not
	AfterOffsets  = "after-offsets"  // its offsets are written too
	BeforeEnd     = "before-end"     // the commit is about to be asked for
	AfterEnd      = "after-end"      // the broker has answered the commit
	BeforeDisk    = "before-disk"    // the committed changes are not on disk
	AfterDisk     = "after-disk"     // they are, as far as the disk's cache goes
	BeforeFlush   = "before-flush"   // the store is about to write its memory to files
	AfterFlush    = "after-flush"    // it has
	Fenced        = "fenced"         // a space is being taken over: its former owner is shut out
	Recovering    = "recovering"     // in the middle of reading a space back
)

// The bugs.
const (
	Drop        = "drop"         // an article's result is left out
	Duplicate   = "duplicate"    // a result is written twice
	EarlyOffset = "early-offset" // the committed offset is ahead of the results
	SkipDisk    = "skip-disk"    // a change of a cluster does not reach the disk
	StaleDisk   = "stale-disk"   // the disk has a cluster as it was before
	Swap        = "swap"         // two results have each other's cluster

	FingerprintLost  = "fingerprint-lost"  // a fingerprinted article is left out
	FingerprintTwice = "fingerprint-twice" // or is written twice

	LabelLost       = "label-lost"       // a result does not carry its cluster's labels
	LabelLate       = "label-late"       // nor do any of the batch before which a label is applied
	LabelAgain      = "label-again"      // the committed offset is before the last label record
	MarkLost        = "mark-lost"        // a new cluster does not get the label of its contact
	MarkUnused      = "mark-unused"      // a mark does not count that it has labelled a cluster
	ContactKept     = "contact-kept"     // a cluster keeps a contact that was erased
	ExceptionLost   = "exception-lost"   // a cluster forgets the labels of its single articles
	CorrectionLost  = "correction-lost"  // a member's correction is left out
	CorrectionTwice = "correction-twice" // or is written twice
	StoryOwn        = "story-own"        // a cluster that joined a story gets one of its own
	StoryUntold     = "story-untold"     // what a transaction tells of a story is left out
	StoryState      = "story-state"      // a story's state has an article less
	StoryDisk       = "story-disk"       // stories are not written to disk
	StoryLeft       = "story-left"       // articles of a story that left another still count there

	// Of a record of each transaction, something is another.
	Publisher   = "publisher"    // one publisher counts twice
	ArticleID   = "article-id"   // a result's article_id
	Title       = "title"        // its representative's title
	Fingerprint = "fingerprint"  // its fingerprint
	Distance    = "distance"     // its distance
	EventTime   = "event-time"   // its header
	Key         = "key"          // its key
	Partition   = "partition"    // its partition
	Sketch      = "sketch"       // a cluster's sketch
	LetterClass = "letter-class" // a dead letter's class
	LetterBytes = "letter-bytes" // its value
)
