/** A journal is damaged before its last line, or can't be read or written: nothing may be resumed from it. */
export class JournalUnreadable extends Error {
  override readonly name = "JournalUnreadable";
}

/** A later attempt owns the chain: nothing more may be written. */
export class JournalOvertaken extends Error {
  override readonly name = "JournalOvertaken";
}
