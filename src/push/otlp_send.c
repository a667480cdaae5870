// SPDX-License-Identifier: MIT
// otlp_send.c: see push.h: OpenTelemetry's profiles to a collector, by HTTP or by gRPC.
#include <errno.h>

#include "base/protobuf.h"
#include "net/grpc.h"
#include "push/push.h"

#define OTLP_METHOD "/opentelemetry.proto.collector.profiles.v1development.ProfilesService/Export"

/* ExportProfilesPartialSuccess{1 rejected_profiles, 2 error_message}: how many. */
static uint64_t otlp_send_rejected(struct cursor c, char said[HTTP_SAID])
{
	uint64_t field, number, rejected = 0;
	struct cursor text;

	while (protobuf_value(&c, &field, &text, &number)) {
		if (field == 1)
			rejected = number;
		if (field == 2)
			http_said(text.at, cursor_left(&text), said);
	}
	return rejected;
}

/*
 * A collector may take a request and refuse some of its profiles, which are not to be sent again:
 * ExportProfilesServiceResponse{1 partial_success}. -EBADMSG.
 */
static int otlp_send_refused(const struct http *h, const struct buf *body, struct seam_error *err)
{
	struct cursor c = cursor_of(body->bytes, body->n, false), partial;
	char said[HTTP_SAID] = "";
	uint64_t field, rejected = 0;

	while (protobuf_field(&c, &field, &partial))
		if (field == 1)
			rejected = otlp_send_rejected(partial, said);
	if (!rejected)
		return 0;
	return seam_error_set(err, EBADMSG, NULL, SEAM_NO_OFFSET, NULL,
	                      "%s refused %llu profiles of a request%s%s", http_origin(h),
	                      (unsigned long long)rejected, *said ? ": " : "", said);
}

/* Sends one request. */
static int otlp_send_one(const struct push_server *s, const struct buf *body, bool *unsure,
                         struct seam_error *err)
{
	struct http_answer answer;
	int r;

	if (s->grpc) {
		const struct grpc_request q = {
			.method = OTLP_METHOD,
			.headers = s->headers,
			.message = body->bytes,
			.n = body->n,
		};

		r = grpc_call(s->http, &q, &answer, err);
	} else {
		const struct http_request q = {
			.path = *s->path ? s->path : "/v1development/profiles",
			.content_type = "application/x-protobuf",
			.headers = s->headers,
			.body = body->bytes,
			.n = body->n,
			.gzip = true,
		};

		r = http_post(s->http, &q, &answer, err);
	}
	*unsure = r < 0 && !answer.status && answer.sent;
	if (r >= 0)
		r = otlp_send_refused(s->http, &answer.body, err);
	http_answer_free(&answer);
	return r;
}

/*
 * All parts in one request. By gRPC in as many as it takes, because its servers refuse long
 * messages: what arrived is not sent again.
 */
int otlp_send(const struct push_server *s, struct push_window *w, bool *unsure,
              struct seam_error *err)
{
	struct buf body = { 0 };
	size_t end = w->n_parts;
	int r = 0;

	while (r >= 0 && w->done < w->n_parts) {
		buf_clear(&body);
		r = otlp_write(&body, w, w->done, end);
		if (r >= 0 && s->grpc && body.n > GRPC_MESSAGE_BYTES && end - w->done > 1) {
			end -= (end - w->done) / 2;
			continue;
		}
		if (r >= 0)
			r = otlp_send_one(s, &body, unsure, err);
		if (r >= 0) {
			size_t n = end - w->done;

			w->done = end;
			end = n < w->n_parts - end ? end + n : w->n_parts;
		}
	}
	buf_free(&body);
	return r;
}
