import {
  type EventMessage,
  eventMessage,
  type MessageData,
  type OfTeam,
} from '../../contract/events/event-messages.ts';
import { words } from '../../contract/words.ts';

/** An event as formats render it. */
export interface Message extends Pick<EventMessage, 'sentence' | 'facts'> {
  /** The page of the console. */
  readonly link: string;
  readonly deliveryId: string;
}

interface Event<Type extends keyof MessageData> {
  readonly type: Type;
  readonly timestamp: string;
  readonly data: MessageData[Type] & OfTeam;
}

/** @param body the event in the standard format */
export function messageOf(body: string, deliveryId: string, consoleUrl: string): Message {
  const event = JSON.parse(body) as Event<keyof MessageData>;
  const { sentence, facts, page } = messageOfKnown(event) ?? messageOfLater(event);
  const path = page.path.map((segment) => `/${encoded(segment)}`).join('');
  const query = Object.entries(page.query ?? {}).map(([name, value]) => `${name}=${encoded(value)}`);
  const link = `${consoleUrl.replace(/\/$/, '')}${path || '/'}${query.length > 0 ? `?${query.join('&')}` : ''}`;
  return { sentence, facts: [...facts, ['Team', words`${event.data.team.name}`]], link, deliveryId };
}

/** `undefined` if a later version has queued the event, with values that this one does not know. */
function messageOfKnown<Type extends keyof MessageData>({
  type,
  data,
}: Event<Type>): EventMessage | undefined {
  try {
    return eventMessage(type, data);
  } catch {
    return undefined;
  }
}

/** An event of a later version. */
function messageOfLater({ type }: Event<keyof MessageData>): EventMessage {
  return { sentence: words`The event ${type} has occurred`, facts: [], page: { path: [] }, finding: null };
}

/** Also encodes the characters that end a link in Markdown and the like. */
function encoded(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16)}`,
  );
}
