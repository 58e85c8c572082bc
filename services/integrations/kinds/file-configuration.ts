/** Which folder is read, and how its files are cut into records. */
import { z } from 'zod'

const MAX_SEGMENTS = 5
const SEGMENT = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$/

export const fileConfiguration = z.object({
  /** Below the tenant's folder. */
  folder: z.string().refine((text) => {
    const segments = text.split('/')
    return segments.length <= MAX_SEGMENTS && segments.every((segment) => SEGMENT.test(segment))
  }, 'names of letters, digits, ., _ and - with / between them are expected'),
  /** CSV: the first row names the columns, each further one is a record; NDJSON: each line is one; JSON: the whole file is one. */
  format: z.enum(['CSV', 'NDJSON', 'JSON']).default('CSV'),
  /** Between the cells of CSV. */
  delimiter: z
    .string()
    .regex(/^[\t !#-~]$/, 'one character of ASCII is expected')
    .default(','),
  /** How often the folder is looked at; a file is read when it did not change in between. */
  pollSeconds: z.int().min(1).max(3600).default(5),
})

export type FileConfiguration = z.output<typeof fileConfiguration>
