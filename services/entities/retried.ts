/** A save starts again when another one came between its reads and its commit. */
import { isMillraceError } from '../../model/errors.ts'

const MAX_TRIES = 5

/** A save that named a version finds another one at its next try, and is refused then. */
export function retried<Value>(label: string, save: () => Promise<Value>): Promise<Value> {
  return retriedWhile((error) => wasOvertaken(error, label), save)
}

/** The same where something else says that another one came between. */
export async function retriedWhile<Value>(
  isOvertaken: (error: unknown) => boolean,
  save: () => Promise<Value>,
): Promise<Value> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await save()
    } catch (error) {
      if (attempt === MAX_TRIES || !isOvertaken(error)) throw error
    }
  }
}

/** The record changed meanwhile, or what a save makes on its way, such as the profile of a new type, was made meanwhile. */
function wasOvertaken(error: unknown, label: string): boolean {
  if (!isMillraceError(error)) return false
  if (error.code === 'entities.VERSION_CONFLICT') return true
  return error.code === 'entities.NAME_TAKEN' && error.fields['entity'] !== label
}
