/** Where nodes lie that nobody has placed: in columns by the longest way to them, in each column near what leads to them. Knows no page. */

const COLUMN = 310
const ROW = 90
const LEFT = 260
const TOP = 60
const ROUNDS = 2

/** @typedef {{ key: number }} Keyed */

/**
 * @param {{ first: number | undefined, nodes: readonly Keyed[], links: readonly { from: number, to: number }[] }} graph
 * @returns {Map<number, { x: number, y: number }>} by keys
 */
export function layered(graph) {
  const columns = columnsOf(graph)
  const rows = new Map()
  for (const column of columns) for (const [row, key] of column.entries()) rows.set(key, row)
  for (let round = 0; round < ROUNDS; round++)
    for (const column of columns) {
      const wanted = new Map(column.map((key) => [key, middle(graph, rows, key)]))
      column.sort((a, b) => (wanted.get(a) ?? 0) - (wanted.get(b) ?? 0))
      for (const [row, key] of column.entries()) rows.set(key, row)
    }
  return new Map(
    columns.flatMap((column, at) => column.map((key, row) => [key, { x: LEFT + at * COLUMN, y: TOP + row * ROW }])),
  )
}

/** @param {Parameters<typeof layered>[0]} graph */
function columnsOf({ first, nodes, links }) {
  /** @type {Map<number, number>} */
  const depths = new Map(nodes.map(({ key }) => [key, 0]))
  // What is no circle is settled after as many rounds as there are nodes; of a circle nothing more is asked than an end.
  for (let round = 0, moved = true; moved && round < nodes.length; round++) {
    moved = false
    for (const { from, to } of links) {
      const depth = (depths.get(from) ?? 0) + 1
      if (depth > (depths.get(to) ?? 0)) {
        depths.set(to, depth)
        moved = true
      }
    }
  }
  /** @type {number[][]} */
  const columns = []
  // Where messages begin is the first of its column.
  const keys = nodes.map(({ key }) => key).sort((a, b) => Number(b === first) - Number(a === first))
  for (const key of keys) (columns[depths.get(key) ?? 0] ??= []).push(key)
  return Array.from(columns, (column) => column ?? [])
}

/** The mean row of what leads to a node; its own where nothing does. @param {Parameters<typeof layered>[0]} graph @param {Map<number, number>} rows @param {number} key */
function middle({ links }, rows, key) {
  const before = links.filter(({ to }) => to === key).map(({ from }) => rows.get(from) ?? 0)
  return before.length === 0 ? (rows.get(key) ?? 0) : before.reduce((sum, row) => sum + row, 0) / before.length
}
