/**
 * Turns by time used (start-time fair queueing): next is who has used least. Who comes back begins where the turns are now, so
 * idleness saves nothing up; who left with more than its share is remembered until the others have caught up.
 */

export interface Competitor {
  /** Time used, ms, on a scale that only the turns know. */
  virtualTime: number
  /** Work that waits or is under way; a competitor with none may be forgotten. */
  active: number
}

export class FairTurns<Member extends Competitor> {
  private readonly members = new Map<string | number, Member>()
  private time = 0

  get size(): number {
    return this.members.size
  }

  find(id: string | number): Member | undefined {
    return this.members.get(id)
  }

  /** The member of that name, which takes part from now on. */
  join(id: string | number, make: () => Member): Member {
    let member = this.members.get(id)
    if (member === undefined) {
      member = make()
      member.virtualTime = this.time
      this.members.set(id, member)
    } else if (member.active === 0) member.virtualTime = Math.max(member.virtualTime, this.time)
    return member
  }

  /** Whose turn it is: of equals, whose last turn is longest ago. Undefined where nobody is eligible. */
  next(eligible: (member: Member) => boolean): Member | undefined {
    let least: Member | undefined
    let leastId: string | number = ''
    for (const [id, member] of this.members) {
      if (member.active === 0) {
        if (member.virtualTime <= this.time) this.members.delete(id)
      } else if ((least === undefined || member.virtualTime < least.virtualTime) && eligible(member)) {
        least = member
        leastId = id
      }
    }
    if (least === undefined) return undefined
    this.members.delete(leastId)
    this.members.set(leastId, least)
    this.time = Math.max(this.time, least.virtualTime)
    return least
  }

  /** Everybody is without work: debts are forgotten with them. */
  clear(): void {
    this.members.clear()
    this.time = 0
  }
}
