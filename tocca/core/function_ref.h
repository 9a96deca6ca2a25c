/// A reference to something that can be called: two pointers, so that passing a lambda on never allocates.
#pragma once

#include <concepts>
#include <memory>
#include <type_traits>
#include <utility>

namespace tocca {

template <class Signature>
class FunctionRef;

/// As a parameter it takes what std::function takes. It must not outlive what it refers to, as a copy kept for later
/// would.
template <class R, class... Arguments>
class FunctionRef<R(Arguments...)> {
 public:
  template <class F>
  requires(!std::same_as<std::remove_cvref_t<F>, FunctionRef> && std::is_invocable_r_v<R, F&, Arguments...>)
      FunctionRef(F&& callee)  // NOLINT(google-explicit-constructor): a lambda is passed as it is
      : callee_(const_cast<void*>(static_cast<const void*>(std::addressof(callee)))),
        call_([](void* f, Arguments... arguments) -> R {
          return (*static_cast<std::remove_reference_t<F>*>(f))(std::forward<Arguments>(arguments)...);
        }) {}

  R operator()(Arguments... arguments) const { return call_(callee_, std::forward<Arguments>(arguments)...); }

 private:
  void* callee_;
  R (*call_)(void*, Arguments...);
};

}  // namespace tocca
