/** The API description and the page that shows it: for everybody, as they say nothing about what is stored. Source: `rest-api.md` 13. */
import { stringifyJson } from '../../model/json.ts'
import { ApiErrors } from '../errors.ts'
import { PAGE_HEADERS, swaggerUiFile } from '../swagger-ui.ts'
import { describeApi } from './declared/openapi.ts'
import type { AnyDeclared } from './declared/route.ts'
import { jsonTextAnswer, type Answer } from './route.ts'
import type { UndeclaredRoute } from './rows.ts'

export function descriptionRoutes(routes: readonly AnyDeclared[], version: string): readonly UndeclaredRoute[] {
  let text: string | undefined
  // Made when it is first asked for: most servers never are.
  const description = async () =>
    jsonTextAnswer((text ??= stringifyJson(describeApi(routes, { version, serverUrl: '' }))))
  const page = () => fileAnswer('index.html')
  return [
    { method: 'GET', pattern: '/v3/api-docs', authorities: 'public', undeclared: 'description', handle: description },
    {
      method: 'GET',
      pattern: '/v3/api-docs/:group',
      authorities: 'public',
      undeclared: 'description',
      handle: description,
    },
    { method: 'GET', pattern: '/swagger-ui', authorities: 'public', undeclared: 'description', handle: page },
    { method: 'GET', pattern: '/swagger-ui.html', authorities: 'public', undeclared: 'description', handle: page },
    { method: 'GET', pattern: '/swagger-ui/', authorities: 'public', undeclared: 'description', handle: page },
    {
      method: 'GET',
      pattern: '/swagger-ui/:file',
      authorities: 'public',
      undeclared: 'description',
      handle: (call) => fileAnswer(call.parameter(0)),
    },
  ]
}

async function fileAnswer(name: string): Promise<Answer> {
  const file = await swaggerUiFile(name)
  if (file === undefined) throw ApiErrors.NOT_FOUND()
  return { status: 200, contentType: file.contentType, body: '', bytes: file.bytes, headers: PAGE_HEADERS }
}
