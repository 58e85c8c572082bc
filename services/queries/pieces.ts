/** Values of many entities, some at a time: one read holds up no other for long, and no tenant's texts fill the memory before they are counted. */

const ENTITIES_PER_READ = 1_000
/** As far as a single one is not longer. */
const TEXT_BYTES_PER_READ = 4 * 2 ** 20

/** Calls `read` for some of the ids after the other, in their order. `textBytes` says what texts of theirs it would read. */
export async function inPieces(
  ids: readonly string[],
  textBytes: (some: readonly string[]) => Promise<number>,
  read: (some: readonly string[], start: number) => Promise<void>,
): Promise<void> {
  const readSome = async (start: number, end: number): Promise<void> => {
    const some = ids.slice(start, end)
    if (some.length > 1 && (await textBytes(some)) > TEXT_BYTES_PER_READ) {
      const middle = start + (some.length >> 1)
      await readSome(start, middle)
      return readSome(middle, end)
    }
    await read(some, start)
  }
  for (let start = 0; start < ids.length; start += ENTITIES_PER_READ)
    await readSome(start, Math.min(start + ENTITIES_PER_READ, ids.length))
}
