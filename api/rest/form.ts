/** Bodies of the kind `multipart/form-data`: texts and files by the names of their parts. */
import { z } from 'zod'
import { ParameterErrors } from '../errors.ts'
import type { UploadedBytes } from '../../services/content/ota-packages.ts'
import { formParts, textOf, type FormPart } from './multipart.ts'

export type FormMembers = Readonly<Record<string, string | UploadedBytes>>

/** Largest body of a call that uploads a file (`rest-api.md` 2.3). */
export const MAX_UPLOAD_BYTES = 50 << 20

/** Throws `parameter.BODY_INVALID`. Of parts with one name the first counts, as in ThingsBoard. */
export function formOf(contentType: string, body: Buffer): FormMembers {
  const parts = formParts(contentType, body)
  if (parts === undefined) throw ParameterErrors.BODY_INVALID({ reason: 'body: multipart/form-data is expected' })
  const members = parts.map((part) => [part.name, part.fileName === undefined ? textOf(part) : fileOf(part)] as const)
  return Object.fromEntries(members.reverse())
}

function fileOf({ fileName = '', contentType, bytes }: FormPart): UploadedBytes {
  return { fileName, contentType: contentType === '' ? 'application/octet-stream' : contentType, bytes }
}

/** A part that is a file. */
export const uploadedFile = z.custom<UploadedBytes>(
  (value) => typeof value === 'object' && value !== null && 'bytes' in value && Buffer.isBuffer(value.bytes),
  'a file is expected',
)

/** Saved under this name: `attachment;filename=fw.bin`. What a header can not carry follows as RFC 5987 has it. */
export function attachment(fileName: string): Readonly<Record<string, string>> {
  const plain = fileName.replace(/[^\x20-\x7e]|["\\;]/g, '_')
  const whole = plain === fileName ? '' : `;filename*=UTF-8''${percentsOf(fileName)}`
  return { 'Content-Disposition': `attachment;filename=${plain}${whole}`, 'x-filename': plain }
}

/** Half of a surrogate pair, which has no bytes, becomes U+FFFD. */
function percentsOf(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(/['()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`)
}
