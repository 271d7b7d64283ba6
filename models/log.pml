/*
 * The usage log of several machines. Two nodes seal counts into deltas, ship them to PostgreSQL's log behind a fence, and apply the log
 * to their replicas. PostgreSQL is a primary and a standby; a failover may lose commits that were not replicated. Packets are bits.
 * At the end, when everything is shipped, replicated and applied, each replica has counted each packet once.
 *
 * Switches (1 for the rules as implemented; with 0 the check fails):
 *   FENCE    a delta is appended only as the next of its stream
 *   IDS      a replica follows only while the id of its last entry is in the log; otherwise it starts again
 *   MESSAGES packet 0 is a message that may be sent to two nodes; the first in the log counts
 *   HEAL     a node compares PostgreSQL's number of its stream with the acknowledged one, and ships again
 *   LOSSY    1: a commit is answered before it is replicated
 *   FO       number of failovers
 */
#ifndef FENCE
#define FENCE 1
#endif
#ifndef IDS
#define IDS 1
#endif
#ifndef MESSAGES
#define MESSAGES 1
#endif
#ifndef HEAL
#define HEAL 1
#endif
#ifndef LOSSY
#define LOSSY 0
#endif
#ifndef FO
#define FO 1
#endif
#ifndef NP
#define NP 3 /* packets */
#endif
#define MD 6 /* deltas of a stream */
#define ML 7 /* entries of a log */

typedef Log { byte size; byte mask[ML]; byte id[ML]; byte seq[2] }
typedef Node { byte open; byte sealed; byte acked; byte d[MD]; byte applied; byte last; byte cnt[NP]; bit seen }
Log p, s;
Node n[2];
byte fo; byte ids; byte sent; bit done; bit all_sent;

inline copy(a, b) {
  i = 0; do :: i < ML -> a.mask[i] = b.mask[i]; a.id[i] = b.id[i]; i++ :: else -> break od;
  a.size = b.size; a.seq[0] = b.seq[0]; a.seq[1] = b.seq[1]; i = 0
}

inline count(who, bits) {
  i = 0;
  do
  :: i < NP ->
     if
     :: (bits & (1 << i)) && MESSAGES && i == 0 -> if :: n[who].seen -> skip :: else -> n[who].seen = 1; n[who].cnt[0]++ fi
     :: (bits & (1 << i)) && !(MESSAGES && i == 0) -> n[who].cnt[i]++
     :: else -> skip
     fi;
     i++
  :: else -> break
  od;
  i = 0
}

inline begin(who) {
  n[who].applied = 0; n[who].last = 0; n[who].seen = 0;
  i = 0; do :: i < NP -> n[who].cnt[i] = 0; i++ :: else -> break od; i = 0
}

proctype Run(byte me) {
  byte i, k; bit in;
  do
  /* seal */
  :: d_step { n[me].open && n[me].acked == n[me].sealed && n[me].sealed < MD - 1 ->
       n[me].sealed++; n[me].d[n[me].sealed] = n[me].open; n[me].open = 0 }
  /* ship: the commit may be kept though its answer is lost */
  :: atomic { n[me].acked < n[me].sealed && p.size < ML && ids < 250 ->
       k = n[me].acked + 1;
       in = 0;
       d_step {
         if
         :: !FENCE || p.seq[me] == k - 1 ->
              p.seq[me] = k; ids++; p.mask[p.size] = n[me].d[k]; p.id[p.size] = ids; p.size++; in = 1
         :: FENCE && p.seq[me] >= k -> n[me].acked = p.seq[me]
         :: FENCE && p.seq[me] < k - 1 -> n[me].acked = p.seq[me]
         fi
       };
       if
       :: in && (LOSSY || (s.size == p.size && s.id[p.size - 1] == p.id[p.size - 1])) -> n[me].acked = k
       :: in -> skip
       :: !in -> skip
       fi;
       k = 0; in = 0 }
  /* the heartbeat */
  :: d_step { HEAL && n[me].acked == n[me].sealed && p.seq[me] < n[me].acked -> n[me].acked = p.seq[me] }
  /* follow */
  :: d_step { (n[me].applied > p.size || (IDS && n[me].applied > 0 && n[me].applied <= p.size && p.id[n[me].applied - 1] != n[me].last)) ->
       begin(me) }
  :: d_step { n[me].applied < p.size && (!IDS || n[me].applied == 0 || p.id[n[me].applied - 1] == n[me].last) ->
       count(me, p.mask[n[me].applied]); n[me].last = p.id[n[me].applied]; n[me].applied++ }
  :: done -> break
  od
}

/* The acknowledgement of a packet is the commit of its bit to the open delta. */
proctype Sender() {
  byte k;
  do
  :: k < NP ->
     if
     :: atomic { n[0].open = n[0].open | (1 << k); sent = sent | (1 << k) }
     :: atomic { n[1].open = n[1].open | (1 << k); sent = sent | (1 << k) }
     fi;
     if
     :: k == 0 ->
        if :: n[0].open = n[0].open | 1 :: n[1].open = n[1].open | 1 :: skip fi
     :: else -> skip
     fi;
     k++
  :: else -> all_sent = 1; break
  od
}

proctype World() {
  byte i;
  do
  :: d_step { s.size != p.size || s.id[ML - 1] != p.id[ML - 1] || (p.size > 0 && s.id[p.size - 1] != p.id[p.size - 1]) -> copy(s, p) }
  :: d_step { fo < FO -> copy(p, s); fo++ }
  :: atomic {
       all_sent && fo == FO && n[0].open == 0 && n[1].open == 0 &&
       n[0].acked == n[0].sealed && n[1].acked == n[1].sealed &&
       (!HEAL || (n[0].sealed <= p.seq[0] && n[1].sealed <= p.seq[1])) &&
       s.size == p.size && s.seq[0] == p.seq[0] && s.seq[1] == p.seq[1] &&
       n[0].applied == p.size && n[1].applied == p.size &&
       (!IDS || p.size == 0 || (n[0].last == p.id[p.size - 1] && n[1].last == p.id[p.size - 1])) ->
         i = 0;
         do
         :: i < NP -> assert(n[0].cnt[i] == 1); assert(n[1].cnt[i] == 1); i++
         :: else -> break
         od;
         done = 1; break }
  od
}

init { atomic { run Run(0); run Run(1); run Sender(); run World() } }
