/** Values that are JSON by the way they were made, for those who store and send JSON. */
import { isJsonObject, type JsonObject } from '../../../model/json.ts'

/** Members that are undefined are left out where it is written. */
export function plainJson(value: object): JsonObject {
  if (!isJsonObject(value)) throw new TypeError('not an object of JSON')
  return value
}
