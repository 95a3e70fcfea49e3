import type { InvestigationTask, StartInvestigationBody } from "../investigation.js";
import { EXAMPLE_TIME } from "./example-time.js";

const TASK_ID = "task_3f0c2a6e-5b1d-4e8a-9c47-d2b6f1a0e935";

/** A body of operation 1. */
export const startInvestigationBody: StartInvestigationBody = {
  slug: "aurora-notes",
  locale: "en",
  idempotency_key: "9b2f6c1e-4d7a-4f3b-8e5c-1a6d0b7f2c94",
  confirm_usage: true,
};

/** A task that was just started. */
export const queuedTask: InvestigationTask = {
  task_id: TASK_ID,
  type: "promotion_investigation",
  status: "queued",
  stage: "queued",
  status_url: `/v1/research/promotion-investigations/${TASK_ID}`,
  result_url: null,
  poll_after_seconds: 60,
  created_at: EXAMPLE_TIME,
  updated_at: EXAMPLE_TIME,
  completed_at: null,
  error: null,
  report: null,
};

/** The same task with its report. */
export const succeededTask: InvestigationTask = {
  ...queuedTask,
  status: "succeeded",
  stage: "complete",
  result_url: queuedTask.status_url,
  poll_after_seconds: null,
  updated_at: "2026-03-02T09:21:30.000Z",
  completed_at: "2026-03-02T09:21:30.000Z",
  report: {
    version: "1",
    generated_at: "2026-03-02T09:21:30.000Z",
    narrative: {
      title: "How Aurora Notes was promoted",
      summary: { text: "Two launches and a run of search ads.", citations: [1] },
      sections: [],
      limitations: "Only public sources were read.",
    },
    summary: {
      actionEvidenceCount: 1,
      channelCount: 1,
      contextLeadCount: 0,
      sourceCount: 1,
      unresolvedActionCount: 0,
    },
    analysis: {
      overview: "Promotion began with a launch in January.",
      method: "Public sources were read and dated.",
      observations: [],
      phases: [],
      channels: ["launch sites"],
      openQuestions: [],
    },
    timeline: [{ date: "2026-01-14", title: "Launch" }],
    strategies: [],
    sources: [{ id: 1, url: "https://aurora-notes.example/blog/launch" }],
    context_leads: [],
    conclusion: "The launch is well covered; its effect on traffic is not established.",
    limitations: ["Paid channels are not visible."],
    caveat: "What came before does not show what caused it.",
    reliability: {
      actorAttribution: "medium",
      coverageLevel: "medium",
      growthCausality: "not_established",
      growthImpact: "not_established",
    },
    omitted_action_count: 0,
    omitted_context_count: 0,
  },
};
