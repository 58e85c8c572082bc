/** Names that are made where none is sent, and numbered where they are taken: `card`, `card2`. */
import type { Random } from '../../model/clock.ts'

/** Letters and digits, the rest is `_`; in lower case. */
export function wordOf(title: string): string {
  return title.toLowerCase().replace(/\W+/g, '_')
}

const MAX_TRIES = 10_000

export async function freeName(wanted: string, isTaken: (name: string) => Promise<boolean>): Promise<string> {
  for (let number = 1; number < MAX_TRIES; number++) {
    const name = number === 1 ? wanted : `${wanted}${number}`
    if (!(await isTaken(name))) return name
  }
  return `${wanted}${MAX_TRIES}`
}

/** Of a file: `card.png`, then `card_(1).png`. What would end a link to it is `_`. */
export async function freeKey(
  fileName: string,
  isTaken: (key: string) => Promise<boolean>,
  random: Random,
): Promise<string> {
  const wanted = fileName.replace(/[\\/?#%\s]/g, '_')
  const [, name = wanted, ending = ''] = /^(.+?)(\.[^.]*)?$/s.exec(wanted) ?? []
  for (let number = 0; number < MAX_TRIES; number++) {
    const key = number === 0 ? wanted : `${name}_(${number})${ending}`
    if (!(await isTaken(key))) return key
  }
  return `${random.uuid()}${ending}`
}
