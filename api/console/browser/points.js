/** The points of a line, in the order of their times. */

/** @typedef {readonly [ts: number, value: number]} Point */

/** Behind the last in nearly all cases; a time that is there is written over. @param {Point[]} points @param {Point} point */
export function insert(points, point) {
  let at = points.length
  while (at > 0 && (points[at - 1]?.[0] ?? 0) > point[0]) at--
  const isThere = points[at - 1]?.[0] === point[0]
  points.splice(isThere ? at - 1 : at, isThere ? 1 : 0, point)
}
