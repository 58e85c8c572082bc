/** Tasks that do nothing but succeed, fail, or fail for ever, as the configuration says: they show how jobs are run. */
import type { JsonObject, JsonValue } from '../../model/json.ts'
import type { TaskPlan } from './task.ts'

/** Times, retries and errors of the whole are the reference's; tasks here take no time and are tried once. */
export const DUMMY_CONFIGURATION: JsonObject = {
  taskProcessingTimeMs: 0,
  successfulTasksCount: 0,
  failedTasksCount: 0,
  permanentlyFailedTasksCount: 0,
  errors: [],
  retries: 0,
  taskProcessingTimeoutMs: 0,
  generalError: null,
  submittedTasksBeforeGeneralError: 0,
}

export function dummyPlan(configuration: JsonObject): TaskPlan {
  const count = (name: string): number => {
    const value = Number(configuration[name] ?? 0)
    return Number.isSafeInteger(value) && value > 0 ? value : 0
  }
  const succeeding = count('successfulTasksCount')
  const failing = count('failedTasksCount')
  const total = succeeding + failing + count('permanentlyFailedTasksCount')
  const reason = firstText(configuration['errors'])
  return {
    total,
    outcome(place, isAgain) {
      const failsForEver = place >= succeeding + failing
      if (place < succeeding || (isAgain && !failsForEver)) return { key: `Task ${place + 1}`, error: undefined }
      return { key: `Task ${place + 1}`, error: reason }
    },
  }
}

function firstText(errors: JsonValue | undefined): string {
  const [first] = Array.isArray(errors) ? errors : []
  return typeof first === 'string' ? first : 'the task fails'
}
