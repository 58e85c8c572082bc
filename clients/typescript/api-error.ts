/** A refusal by the server. Most have a JSON body; those of telemetry are bare text, with no code. */
export class ApiError extends Error {
  readonly status: number
  /** 10: not logged in; 11: the token is over; 20: not allowed; 31: not valid; 32: not there; 35: overtaken by another change. */
  readonly errorCode: number | undefined
  /** Method and path, without what was put in. */
  readonly operation: string

  constructor(operation: string, status: number, message: string, errorCode?: number) {
    super(message)
    this.name = 'ApiError'
    this.operation = operation
    this.status = status
    this.errorCode = errorCode
  }

  static of(
    { method, path }: { readonly method: string; readonly path: string },
    status: number,
    body: string,
  ): ApiError {
    const { message, errorCode } = membersOf(body)
    const text = typeof message === 'string' ? message : body === '' ? `the server answered ${status}` : body
    return new ApiError(`${method} ${path}`, status, text, typeof errorCode === 'number' ? errorCode : undefined)
  }
}

function membersOf(body: string): { readonly message?: unknown; readonly errorCode?: unknown } {
  try {
    const parsed: unknown = JSON.parse(body)
    return typeof parsed === 'object' && parsed !== null ? parsed : {}
  } catch {
    // What stands between client and server may answer anything.
    return {}
  }
}
