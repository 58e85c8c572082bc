/** What jobs are made of. */

export interface TaskOutcome {
  readonly key: string
  /** Undefined where the task succeeded. */
  readonly error: string | undefined
}

/** How many tasks there are, and how the one at that place ends. */
export interface TaskPlan {
  readonly total: number
  /** `isAgain`: it failed before. */
  outcome(place: number, isAgain: boolean): TaskOutcome
}
