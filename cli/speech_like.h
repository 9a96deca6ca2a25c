/// Made data in the shape of the XRMB corpus, for those who do not have it.
#pragma once

#include "tocca/core/context.h"
#include "tocca/core/rng.h"
#include "tocca/data/views.h"

namespace tocca::cli {

struct SpeechData {
  Dataset training, validation, test;  ///< views "acoustic" (n × 273) and "articulatory" (n × 112), phones as labels
};

/// A small model of talking: speakers utter random strings of 38 phones. A phone has three variants, which depend on
/// the phone after it, each with two halves; each half pulls ten articulators and four sources of sound towards targets
/// of its own, smoothly, so that neighbours blend. So a phone is several clouds, which no linear rule finds. The
/// articulatory view is 16 sensors on the articulators; the acoustic view 13 numbers that depend on articulators and
/// sources in a way no linear map undoes, with their slopes and curvatures. Both have noise and habits of the speaker's
/// own, and both hold seven frames side by side, standardised by speaker. Of 45 speakers 35 are for training, 2 for
/// validation, 8 for testing (a third as many frames each), as in the corpus. It is not speech: figures on it mean
/// nothing for the real corpus. `frames` in all, at least 45 × 20.
SpeechData make_speech_like(Index frames, const Rng& rng, const Context& context);

}  // namespace tocca::cli
