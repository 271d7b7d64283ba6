import { addNote, deleteNote, tooManyNotes } from '../accounts/feature-notes.ts';
import { NewNote, Note } from '../contract/shapes/feature.ts';
import type { Group } from '../http/endpoint.ts';
import { created, done, made } from './answers.ts';
import { readTime, timeRule } from './body-time.ts';
import { endpoint } from './endpoint.ts';
import { findEnvironment, unknownEnvironment } from './environment-name.ts';
import { type FeatureDeps, mustBeKnown, showNote, unknownFeature } from './feature-detail.ts';
import { tooManyReports } from './report-pool.ts';

/** `/api/v2/applications/{id}/features/{feature}/notes`: what a team writes down about a feature. */
export const featureNotes: Group<FeatureDeps> = {
  tag: 'Feature notes',
  description:
    'What a team writes down about a feature, such as a rollout. Reading the feature shows its notes.',
  endpoints: [
    endpoint('POST /applications/:id/features/:feature/notes', {
      access: { within: 'application', least: 'User' },
      operationId: 'addNote',
      summary: 'Add a note to a feature',
      description: 'The feature may be one that was only seen. This does not declare it.',
      body: NewNote,
      answers: { 201: made(Note, 'The note.') },
      refuses: {
        invalid_time: timeRule('at'),
        unknown_environment: unknownEnvironment,
        not_found: unknownFeature,
        conflict: tooManyNotes,
        backpressure: tooManyReports,
      },
      async handle({ directory, application, params: { feature }, body }, deps: FeatureDeps) {
        const { text, at, environment = null } = body;
        if (environment !== null) findEnvironment(application.environments, environment);
        const time = at === undefined ? directory.clock.now() : readTime('at', at);
        mustBeKnown(
          directory.featuresOf(application.id).get(feature),
          await deps.sights.of(application, feature),
        );
        const note = await addNote(directory, application.id, feature, { at: time, environment, text });
        return created(
          ['applications', application.id, 'features', feature, 'notes', note.id],
          showNote(note),
        );
      },
    }),
    endpoint('DELETE /applications/:id/features/:feature/notes/:noteId', {
      access: { within: 'application', least: 'User' },
      operationId: 'deleteNote',
      summary: 'Delete a note of a feature',
      answers: { 204: done('The note is gone.') },
      handle: ({ directory, application, params: { feature, noteId } }) =>
        deleteNote(directory, application.id, feature, noteId),
    }),
  ],
};
