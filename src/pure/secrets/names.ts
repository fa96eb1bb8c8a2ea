/** Which names of variables and fields say that the value is a secret. */

/** As words of a name: MONKEY is no key. */
const SECRET_WORDS = new Set(
  `KEY KEYS APIKEY APIKEYS TOKEN TOKENS SECRET SECRETS PASSWORD PASSWORDS PASSWD PASS PASSPHRASE PASSCODE PWD PW PIN OTP TOTP
  CREDENTIAL CREDENTIALS CREDS CRED AUTH OAUTH AUTHORIZATION BEARER COOKIE COOKIES PRIVATE DSN JWT PAT SIGNATURE SALT MNEMONIC`
    .trim()
    .split(/\s+/),
)

/** Written together with another word: PGPASSWORD, GITHUBTOKEN, SECRETKEY. */
const SECRET_ENDING =
  /(?:PASSWORD|PASSWD|PASSPHRASE|TOKEN|SECRET|CREDENTIALS?|COOKIE|(?:API|ACCESS|SECRET|PRIVATE|AUTH|SSH|GPG|SIGNING|ENCRYPTION|MASTER|DEPLOY)KEY|(?:DB|PG|USER|SMTP|SSH)PASS|(?:DB|MYSQL|USER)PWD)$/

/** With these, a name speaks about a secret and is not the name of one: TOKEN_LIMIT, AUTH_TYPE, SECRET_FILE. */
const ABOUT_FIRST = new Set('MAX MIN NUM USE ENABLE DISABLE IS HAS SKIP NO'.split(' '))
const ABOUT_LAST = new Set(
  `FILE PATH DIR FOLDER SOCK SOCKET TYPE MODE METHOD NAME LIMIT COUNT LENGTH SIZE TTL TIMEOUT EXPIRES EXPIRY ENABLED DISABLED
  REQUIRED ALGORITHM URL URI ENDPOINT HOST PORT ISSUER AUDIENCE PROVIDER SCOPE SCOPES REGION`
    .trim()
    .split(/\s+/),
)

const WORD = /[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g

/** `API_KEY`, `apiKey`, `api-key`. */
export function isSecretName(name: string): boolean {
  const words = (name.match(WORD) ?? []).map((word) => word.toUpperCase())
  if (ABOUT_FIRST.has(words[0]!) || ABOUT_LAST.has(words.at(-1)!)) return false
  return words.some((word) => SECRET_WORDS.has(word) || SECRET_ENDING.test(word))
}
